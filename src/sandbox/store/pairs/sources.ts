/** Source names of the service; observed-service.md 3.11. */
export const sourceNames: ReadonlySet<string> = new Set(
  (
    "ingestion_api slack web google_drive gmail github gitbook gitlab guru bookstack outline confluence jira slab " +
    "productboard file coda canvas notion zulip linear hubspot document360 gong google_sites zendesk loopio box " +
    "dropbox sharepoint teams salesforce discourse axero clickup mediawiki wikipedia asana s3 r2 " +
    "google_cloud_storage oci_storage xenforo not_applicable discord freshdesk fireflies egnyte airtable highspot " +
    "drupal_wiki imap bitbucket testrail braintrust lumapps mock_connector user_file craft_file"
  ).split(" "),
);
