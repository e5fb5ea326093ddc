import {
  inspectSetup,
  stateFolder,
  type DocumentSource,
  openShaping,
  type Shaping,
} from "./options/settings.ts";
import { loadExamine } from "../../checks/lint/load-examine.ts";
import { stateRules } from "../files-in-state.ts";
import type { Config } from "../../config/load.ts";
import { parseBaseUrl } from "../../config/values/url.ts";
import type { Context } from "../../context.ts";
import type { PlanInspector } from "../../documents/inspect/inspection.ts";
import { createRealPlaces, exists } from "../../documents/files/real-place.ts";
import { filesInThisThread, openInspector } from "../../documents/inspect/open-inspector.ts";
import type { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { startProgress, type Progress } from "../../output/terminal/progress.ts";
import { findLostPath } from "../../sync/plan/merge.ts";
import { openStateForReading } from "../../sync/state/file/read-only-state.ts";
import { hasState, openState, openTemporaryState } from "../../sync/state/file/state-file.ts";
import type { SharedRecord } from "../../sync/shared/record.ts";
import type { State } from "../../sync/state/state.ts";
import { recordedServices, type Targets } from "../../sync/state/target.ts";
import { openClient, type Connected } from "../connect.ts";
import { secretsOf, type Secrets } from "../../output/terminal/redact.ts";
import { ownKeys } from "./own-keys.ts";
import { namesShared, openRecordFor, type RecordRequest } from "./record.ts";
import type { MappingFlags } from "./options/mapping-flags.ts";
import {
  type PairNames,
  chosenPair,
  ownTargets,
  pairByName,
  pairOrRecorded,
  type ChosenPair,
} from "./target/pair.ts";
import { pathsInParts } from "../../documents/parts/parts.ts";
import type { AcceptedRecord, FailureRecord, FileRecord } from "../../sync/state/records.ts";

/**
 * Wraps the state so that no secret is stored, even if a response contains one. The state is
 * copied to caches and other machines, and `state list` there cannot redact unknown secrets.
 *
 * A file or document with a key in its name is not recorded, so it is new in each run. Its
 * failure is recorded under a redacted name. A shorter secret is not redacted in names: it may
 * be an ordinary word, and the document could not be found under another name.
 */
function withoutSecrets(state: State, { redact, holdsKey }: Secrets): State {
  const { options, uploads, verified } = state;
  const redactFailure = (each: FailureRecord): FailureRecord => {
    const reason = redact(each.reason);
    if (!holdsKey(each.path) && !holdsKey(each.id)) return { ...each, reason };
    return { ...each, path: redact(each.path), id: redact(each.id), reason };
  };
  const redactAccepted = (each: AcceptedRecord): AcceptedRecord => {
    const storedId = each.storedId === undefined ? undefined : redact(each.storedId);
    // Most ids hold no secret: a copy of each record takes longer than the search.
    return storedId === each.storedId ? each : { ...each, storedId };
  };
  const redactFile = (each: FileRecord): FileRecord =>
    each.skipped === undefined ? each : { ...each, skipped: redact(each.skipped) };
  const hasNoKey = ({ path = "", id = "" }: { path?: string | undefined; id?: string }): boolean =>
    !holdsKey(path) && (id === path || !holdsKey(id));
  return {
    ...state,
    options: {
      ...options,
      // Options without their secret would make other documents: then nobody knows them.
      store: (json) => (holdsKey(json) ? undefined : options.store(json)),
      find: (json) => (holdsKey(json) ? undefined : options.find(json)),
    },
    uploads: {
      ...uploads,
      begin: (run) => uploads.begin({ ...run, inputs: run.inputs.map(redact) }),
      end: (run) => uploads.end({ ...run, inputs: run.inputs.map(redact) }),
    },
    verified: {
      ...verified,
      save: (checks) => verified.save(checks.filter(({ id }) => !holdsKey(id))),
      leaveOpen: (documents, atMs, synchronous) =>
        verified.leaveOpen(
          documents.filter(({ id }) => !holdsKey(id)),
          atMs,
          synchronous,
        ),
      suspect: (documents) => verified.suspect(documents.filter(({ id }) => !holdsKey(id))),
    },
    openParts(path, ours, others) {
      if (!holdsKey(path)) state.openParts(path, ours, others);
    },
    save({ files = [], accepted: acceptedRecords = [], failures = [] }, synchronous) {
      const kept = {
        files: files.filter(
          ({ path, document, parts }) =>
            hasNoKey({ path, id: document?.id ?? "" }) &&
            (parts === undefined || !pathsInParts(parts).some(holdsKey)),
        ),
        accepted: acceptedRecords.filter(hasNoKey),
      };
      const batch = {
        files: kept.files.map(redactFile),
        accepted: kept.accepted.map(redactAccepted),
      };
      state.save({ ...batch, failures: failures.map(redactFailure) }, synchronous);
    },
  };
}

/** Options of a session. */
export interface SessionRequest extends MappingFlags, RecordRequest {
  concurrency?: number;
  rate?: number;
  /** A dry run that reads from the service. */
  readsService?: boolean;
  /** For a retry: the target that the records name, which replaces flags and configuration. */
  pair?: (state: State, baseUrl: string) => ChosenPair | undefined;
}

/** The connection of an upload, with its limits. */
export interface UploadConnection extends Connected {
  concurrency: number;
  rate: number | undefined;
}

/** The open resources of an ingest command: service, state, worker threads. */
export interface Session {
  output: Output;
  source: DocumentSource;
  /** Undefined for a dry run that needs no service. */
  connected: UploadConnection | undefined;
  state: State;
  /** First recorded path where none of the recorded files exists under the root. */
  lostPath?: string | undefined;
  targets: Targets;
  /** Pairs of this run, as far as they were looked up, for messages. */
  pairNames: PairNames;
  /** The options that shape the documents of this session. */
  shaping: Shaping;
  /** Keys of the profile: a document that contains one fails. */
  keys: readonly string[];
  inspector: PlanInspector;
  /** Whether nothing is sent. */
  isDry: boolean;
  progress: Progress;
  /** The shared record that `state` is a copy of. */
  record: SharedRecord | undefined;
  /** Pushes what the shared record lacks; the error if it could not. Once: close() does it otherwise. */
  settle(): Promise<CliError | undefined>;
  close(): Promise<void>;
}

/** A session that reads from the service or sends. */
export type ConnectedSession = Session & { connected: UploadConnection };

/** A session that sends. */
export type UploadSession = Session & { connected: UploadConnection; isDry: false };

/** Whether a session has a connection. */
export function isConnected(session: Session): session is ConnectedSession {
  return session.connected !== undefined;
}

/** Whether a session sends documents. */
export function isUpload(session: Session): session is UploadSession {
  return session.connected !== undefined && !session.isDry;
}

async function openStateFor(
  context: Context,
  folder: string | undefined,
  dryRun: boolean,
  output: Output,
  isShared: boolean,
): Promise<State> {
  const rules = stateRules(context);
  // A dry run makes no state, except as the copy of a shared record.
  if (folder === undefined || (dryRun && !isShared && !hasState(folder, rules))) {
    return await openTemporaryState();
  }
  const open = dryRun ? openStateForReading : openState;
  const { state, wasEmptied } = await open(folder, context.now, rules);
  if (wasEmptied) {
    await output.warn(`the state in ${folder} is empty: every document counts as not sent yet`);
  }
  return state;
}

/** Warns when no recorded file exists: every file would be new and every document an orphan. */
async function warnOfLostPaths(
  output: Output,
  state: State,
  { root, folder }: { root: string; folder: string },
): Promise<string | undefined> {
  const realPlaceOf = createRealPlaces(root);
  const lost = findLostPath(state.database, (path) => exists(realPlaceOf(path)));
  if (lost === undefined) return undefined;
  await output.warn(
    `none of the files recorded in ${folder} exists under ${root} (the first is ${lost}): ` +
      "the folder was moved, or the state belongs to another root; check --root and --state",
  );
  return lost;
}

/** Warns when all records are of other addresses: the service may have moved. */
async function warnOfOtherAddress(output: Output, state: State, baseUrl: string): Promise<void> {
  if (baseUrl === "") return;
  const services = recordedServices(state.database);
  const [other] = services;
  if (other === undefined || services.includes(baseUrl)) return;
  await output.warn(
    `the state has records for ${services.join(", ")} and none for ${baseUrl}: every document counts as not sent yet; if it is the same service: knowctl state move ${other} ${baseUrl}`,
  );
}

/** Base URL of a dry run's target, or "" when invalid: it is only compared with the state. */
export function plannedBaseUrl(config: Config): string {
  try {
    return parseBaseUrl(config.values.baseUrl ?? "").baseUrl;
  } catch {
    return "";
  }
}

const graceMs = 5000;
const defaultConcurrency = 8;

/** Opens a client that aborts requests 5 seconds after the first Ctrl-C. The caller closes it. */
async function openUpload(
  context: Context,
  output: Output,
  config: Config,
  request: SessionRequest,
): Promise<UploadConnection & { close(): Promise<void> }> {
  const abort = new AbortController();
  const finished = new AbortController();
  const startGracePeriod = (): void => {
    context.sleep(graceMs, finished.signal).then(
      () => abort.abort(context.signal.reason),
      () => {},
    );
  };
  context.signal.addEventListener("abort", startGracePeriod, { once: true });
  const concurrency = request.concurrency ?? config.ingest.concurrency ?? defaultConcurrency;
  const connected = await openClient(context, output, config, {
    connections: concurrency,
    signal: abort.signal,
  });
  return {
    ...connected,
    concurrency,
    rate: request.rate ?? config.ingest.rate,
    async close() {
      await connected.client.close();
      context.signal.removeEventListener("abort", startGracePeriod);
      finished.abort();
    },
  };
}

/** Opens the service where a session needs it: a dry run only to look up a connector name. */
async function connectFor(
  context: Context,
  output: Output,
  { config }: DocumentSource,
  request: SessionRequest,
  { connector }: ChosenPair,
): Promise<(UploadConnection & { close(): Promise<void> }) | undefined> {
  const isNamed = connector !== undefined;
  const isNeeded = !request.dryRun || request.readsService === true;
  if (!isNeeded && isNamed && config.refused) {
    await output.note(`connector ${connector} is not looked up: ${config.refused.message}`);
  }
  if (!isNeeded && (!isNamed || config.refused)) return undefined;
  return await openUpload(context, output, config, request);
}

/** Opens a session for `source`; the caller closes it. Throws CliError. */
export async function openSession(
  context: Context,
  output: Output,
  source: DocumentSource,
  request: SessionRequest,
): Promise<Session> {
  const { dryRun = false } = request;
  const { config } = source;
  const { root } = source.settings;
  const requestedPair = chosenPair(request, config);
  const folder = stateFolder(source, request);
  const closing: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).toReversed()) await each();
  };
  try {
    const connected = await connectFor(context, output, source, request, requestedPair);
    closing.push(() => connected?.close());
    const isShared = folder !== undefined && namesShared(request, config);
    const localState = await openStateFor(context, folder, dryRun, output, isShared);
    closing.push(() => localState.close());
    const shared = isShared
      ? await openRecordFor(context, output, localState, source, request)
      : undefined;
    closing.push(() => shared?.close());
    const openedState = shared?.record?.state ?? localState;
    const lostPath =
      folder === undefined
        ? undefined
        : await warnOfLostPaths(output, openedState, { root, folder });
    const state = withoutSecrets(openedState, secretsOf(context));
    const progress = startProgress(output, context.elapsed);
    closing.push(() => progress.stop());
    const baseUrl = connected?.connection.baseUrl ?? plannedBaseUrl(config);
    const pair =
      request.pair?.(state, baseUrl) ??
      (await pairOrRecorded(requestedPair, { state, baseUrl }, config, output));
    const pairNames: PairNames = new Map();
    const ccPairId =
      pair.connector === undefined || !connected
        ? pair.ccPairId
        : await pairByName(connected, pair.connector, pairNames);
    const targets = { baseUrl, pair: { ccPairId, fromFlag: pair.fromFlag } };
    await shared?.start(ownTargets(state, targets, source.settings).map(({ key }) => key));
    if (folder !== undefined) await warnOfOtherAddress(output, openedState, baseUrl);
    const shaping = openShaping(source, pair.fromFlag, state, dryRun);
    const keys = await ownKeys(output, source, connected?.connection);
    const setup = inspectSetup(source, targets, keys);
    const recorded = state.countFiles(filesInThisThread);
    const inspector = await openInspector(setup, context.workerScript, recorded, loadExamine);
    closing.push(() => inspector.close());
    return {
      output,
      source,
      connected,
      state,
      lostPath,
      targets,
      pairNames,
      shaping,
      keys,
      inspector,
      isDry: dryRun,
      progress,
      record: shared?.record,
      settle: async () => await shared?.settle(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
