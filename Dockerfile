# An image with Node and the single file of the tool, and nothing else: no npm packages, no compiler.
#
#   docker build --tag knowctl .
#   docker run --rm --volume "$PWD:/work" --user "$(id -u)" \
#     --env KNOWCTL_BASE_URL --env KNOWCTL_API_KEY knowctl ingest docs --cc-pair-id 2
#
# Keys come in when it runs, as variables or a mounted file; none is part of the image.
# Node 24 has SQLite built in, and needs no library that the slim image lacks.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY rolldown.config.js LICENSE ./
COPY bin bin
COPY scripts scripts
COPY src src
RUN node scripts/bundle.js /out

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="knowctl" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build --chmod=0755 /out/knowctl.cjs /usr/local/bin/knowctl
# The user that the Node image brings. Another may be named with --user, as for files on a
# mounted folder: the tool needs no entry in /etc/passwd.
USER 1000:1000
WORKDIR /work
# A command that ends has no health; who runs `sandbox` in it for longer looks at its port.
HEALTHCHECK NONE
ENTRYPOINT ["node", "/usr/local/bin/knowctl"]
CMD ["--help"]
