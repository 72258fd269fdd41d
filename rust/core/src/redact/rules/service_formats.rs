//! Published token formats of AI, payment, mail and collaboration services, and formats known by an infix.

use super::token_format::{Begins, ByteSet, Infix, Tokens, infix, token};

use Begins::{Anywhere, AtWord, Random};
use ByteSet::{Alnum, Digit, Dotted, Hex, Padded, Path, Upper, Web, Wide, Word};

/// Token formats: kind, prefixes, byte set of the body, its minimum length, where the token may begin.
///
/// If one prefix begins with another both may match; the longer span wins.
#[rustfmt::skip]
pub(crate) const SERVICE_FORMATS: &[Tokens] = &[
    // Models and their platforms
    token("anthropic-key", &["sk-ant-"], Word, 12, Anywhere),
    token("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], Word, 16, Anywhere),
    token("openrouter-key", &["sk-or-v1-"], Word, 16, Anywhere), token("openai-key", &["sk-"], Word, 16, AtWord),
    token("huggingface-token", &["hf_", "api_org_"], Alnum, 28, AtWord),
    token("groq-key", &["gsk_"], Alnum, 32, AtWord), token("xai-key", &["xai-"], Alnum, 40, AtWord),
    token("perplexity-key", &["pplx-"], Alnum, 32, AtWord), token("replicate-token", &["r8_"], Alnum, 32, AtWord),
    token("tavily-key", &["tvly-"], Word, 24, AtWord),
    token("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], Word, 24, Anywhere),
    token("nvidia-key", &["nvapi-"], Word, 40, Anywhere), token("llamaindex-key", &["llx-"], Word, 32, AtWord),
    token("together-key", &["tgp_v1_"], Word, 32, Anywhere), token("fireworks-key", &["fw_"], Alnum, 22, Random),
    token("cerebras-key", &["csk-"], Alnum, 32, AtWord), token("voyage-key", &["pa-"], Word, 40, Random),
    token("jina-key", &["jina_"], Word, 40, Random), token("pinecone-key", &["pcsk_"], Word, 32, AtWord),
    token("langfuse-key", &["sk-lf-", "pk-lf-"], Word, 30, Anywhere),
    token("langsmith-key", &["ls__"], Alnum, 24, Random), token("firecrawl-key", &["fc-"], Hex, 30, AtWord),
    token("wandb-key", &["wandb_v1_"], Word, 32, Anywhere), token("openai-key", &["sess-"], Alnum, 36, AtWord),
    token("apify-token", &["apify_api_"], Alnum, 24, Anywhere),
    // Speech, mail, payment, work
    token("slack-token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-"], Word, 10, Anywhere),
    token("slack-token", &["xoxe-", "xoxe.xox"], Word, 10, Anywhere),
    token("slack-token", &["xoxd-"], Wide, 10, Anywhere), token("slack-token", &["xapp-"], Word, 20, Anywhere),
    token("slack-webhook", &["hooks.slack.com/services/", "hooks.slack.com/workflows/"], Path, 20, Anywhere),
    token("slack-webhook", &["hooks.slack.com/triggers/"], Path, 20, Anywhere),
    token("discord-webhook", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], Path, 30, Anywhere),
    token("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_"], Alnum, 10, Anywhere),
    token("stripe-key", &["rk_prod_"], Alnum, 10, Anywhere),
    token("stripe-webhook-secret", &["whsec_"], Wide, 24, Anywhere),
    token("square-token", &["sq0atp-", "sandbox-sq0atb-"], Word, 20, Anywhere),
    token("square-secret", &["sq0csp-", "sandbox-sq0csb-"], Word, 20, Anywhere),
    token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpua_", "shptka_"], Hex, 28, Anywhere),
    token("shopify-secret", &["shpss_"], Hex, 28, Anywhere),
    token("easypost-key", &["EZAK", "EZTK"], Alnum, 50, AtWord), token("sendgrid-key", &["SG."], Dotted, 40, AtWord),
    token("sendinblue-key", &["xkeysib-", "xsmtpsib-"], Word, 40, Anywhere),
    token("mailgun-key", &["key-", "pubkey-"], Hex, 30, AtWord), token("twilio-key", &["SK"], Hex, 32, AtWord),
    token("linear-key", &["lin_api_", "lin_oauth_", "lin_wh_"], Alnum, 24, Anywhere),
    token("notion-token", &["ntn_", "secret_"], Alnum, 40, AtWord),
    token("figma-token", &["figd_"], Word, 32, Anywhere), token("typeform-token", &["tfp_"], Wide, 40, AtWord),
    token("readme-key", &["rdme_"], Alnum, 50, AtWord), token("contentful-token", &["CFPAT-"], Word, 32, Anywhere),
    token("adafruit-key", &["aio_"], Alnum, 24, AtWord), token("shippo-token", &["shippo_live_"], Hex, 32, Anywhere),
    token("teams-webhook", &["webhook.office.com/webhookb2/"], Web, 40, Anywhere),
    token("zapier-webhook", &["hooks.zapier.com/hooks/catch/"], Path, 10, Anywhere),
    token("stripe-key", &["pk_live_", "pk_test_"], Alnum, 20, Anywhere),
    token("square-token", &["EAAA"], Word, 56, Random), token("square-client-id", &["sq0idp-"], Word, 20, Anywhere),
    token("paypal-token", &["access_token$production$", "access_token$sandbox$"], Wide, 32, Anywhere),
    token("razorpay-key", &["rzp_live_", "rzp_test_"], Alnum, 12, Anywhere),
    token("flutterwave-key", &["FLWPUBK"], Word, 24, Anywhere),
    token("flutterwave-key", &["FLWSECK"], Word, 12, Anywhere),
    token("gocardless-token", &["live_", "sandbox_"], Padded, 30, Random),
    token("lob-key", &["test_pub_", "live_pub_", "test_", "live_"], Hex, 24, AtWord),
    token("duffel-token", &["duffel_test_", "duffel_live_"], Padded, 32, Anywhere),
    token("frameio-token", &["fio-u-"], Padded, 40, AtWord),
    token("plaid-token", &["access-sandbox-", "access-development-", "access-production-"], Word, 32, Anywhere),
    token("paddle-key", &["pdl_live_", "pdl_sdbx_"], Word, 24, Anywhere),
    token("resend-key", &["re_"], Word, 24, Random), token("mailersend-token", &["mlsn."], Hex, 40, AtWord),
    token("mandrill-key", &["md-"], Word, 20, Random), token("klaviyo-key", &["pk_"], Hex, 34, AtWord),
    token("twilio-account", &["AC"], Hex, 32, AtWord), token("nylas-key", &["nyk_v0_"], Word, 40, Anywhere),
    token("intercom-token", &["dG9r"], Wide, 40, Random),
    token("hubspot-token", &["pat-na1-", "pat-na2-", "pat-eu1-"], Word, 30, AtWord),
    token("airtable-token", &["pat"], Dotted, 70, Random), token("airtable-key", &["key"], Alnum, 14, Random),
    token("asana-token", &["1/"], Word, 32, Random), token("clickup-token", &["pk_"], Upper, 24, Random),
    token("figma-token", &["figo_", "figu_"], Word, 32, AtWord), token("dropbox-token", &["sl."], Word, 60, Random),
    token("facebook-token", &["EAACE"], Alnum, 30, Random), token("facebook-token", &["EAA"], Alnum, 60, Random),
    token("instagram-token", &["IGQ"], Alnum, 60, Random), token("threads-token", &["THAA"], Alnum, 60, Random),
    token("twitter-token", &["AAAAAAAAAAAAAAAAAAAAA"], Wide, 40, AtWord),
    token("intra42-secret", &["s-s4t2ud-", "s-s4t2af-"], Hex, 60, AtWord),
    token("linkedin-secret", &["WPL_AP1."], Dotted, 16, AtWord),
    token("salesforce-key", &["3MVG"], Dotted, 60, Random), token("salesforce-token", &["5Aep"], Dotted, 60, Random),
    token("ubidots-token", &["BBFF-"], Alnum, 30, AtWord),
    token("onfido-token", &["api_live.", "api_sandbox."], Dotted, 24, AtWord),
    token("beamer-token", &["b_"], Padded, 44, Random), token("sanity-token", &["sk"], Alnum, 80, Random),
    // The first bytes of private keys in base64
    token("private-key", &["MIIE", "MIICX", "MIICd", "MIIJ", "MIIBO", "MIIBV", "MIGHAgEA"], Wide, 40, AtWord),
    token("private-key", &["b3BlbnNzaC1rZXkt"], Wide, 40, AtWord),
];

/// Formats without a prefix of their own: kind, part before, infix, part after.
#[rustfmt::skip]
pub(crate) const INFIXES: &[Infix] = &[
    infix("terraform-token", (Alnum, 14), ".atlasv1.", (Padded, 32)),
    infix("telegram-bot-token", (Digit, 6), ":AA", (Word, 30)),
    infix("azure-client-secret", (Alnum, 3), "8Q~", (Wide, 30)),
    infix("azure-client-secret", (Alnum, 3), "7Q~", (Wide, 30)),
    infix("salesforce-token", (Alnum, 15), "!A", (Wide, 60)),
    infix("newrelic-key", (Alnum, 30), "NRAL", (Alnum, 0)), infix("mailchimp-key", (Alnum, 30), "-us", (Digit, 1)),
    infix("google-client", (Word, 30), ".apps.googleusercontent.com", (Alnum, 0)),
];
