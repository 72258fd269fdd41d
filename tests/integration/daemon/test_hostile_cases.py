"""Every labelled kind of hostile client for length-prefixed frames has a test that does the same over HTTP."""

from __future__ import annotations

from pathlib import Path

from support.shared import shared_rows

# What a bare frame did, and which test does it by HTTP.
INTENTS = {
    "len_zero": "test_empty_body",
    "len_max": "test_huge_length_is_refused_from_the_head",
    "len_1gib": "test_huge_length_is_refused_from_the_head",
    "len_over_by_one": "test_body_limit_is_exact",
    "len_at_limit": "test_body_limit_is_exact",
    "short_body": "test_short_body_has_no_effect",
    "short_len": "test_short_head_has_no_effect",
    "one_byte_per_s": "test_crawling_head_and_body_meet_their_deadlines",
    "idle_conn": "test_idle_connection_is_closed",
    "never_reads": "test_client_that_never_reads",
    "half_close": "test_half_close_is_answered",
    "rst_mid": "test_disconnecting_during_an_answer",
    "two_frames_one_write": "test_pipelined_requests_are_answered_in_order",
    "frame_split_each_byte": "test_request_in_single_bytes",
    "pipelined_1000": "test_pipelined_requests_are_answered_in_order",
    "dup_id": "test_pipelined_requests_are_answered_in_order",
    "no_id": "test_invalid_heads_are_refused",
    "id_types": "test_invalid_heads_are_refused",
    "unknown_method": "test_invalid_heads_are_refused",
    "proto_pollution": "test_names_of_the_language_are_plain_fields",
    "dup_keys": "test_hostile_text",
    "nan": "test_hostile_text",
    "big_int": "test_hostile_text",
    "lone_surrogate": "test_hostile_text",
    "deep_100k": "test_hostile_text",
    "utf16": "test_hostile_text",
    "bom": "test_hostile_text",
    "nul_in_string": "test_nul_in_a_path_is_refused",
    "invalid_utf8": "test_hostile_text",
    "gzip": "test_compressed_and_foreign_bodies",
    "http_get": "test_tcp_refuses_browsers",
    "tls_hello": "test_invalid_heads_are_refused",
    "fd_passing": "test_passed_descriptors_are_closed",
    "oob": "test_out_of_band_byte_is_ignored",
    "unbound_dgram": "test_other_kinds_of_socket",
    "abstract_name": "test_other_kinds_of_socket",
    "conn_flood": "test_connection_flood",
    "fd_exhaustion": "test_few_descriptors",
    "slow_500": "test_slow_clients_do_not_block_others",
    "other_uid": "test_another_user_is_refused",
    "root_uid": "test_root_may_connect_and_is_logged",
    "forged_tenant": "test_space_comes_from_the_credential",
    "guess_id": "test_space_comes_from_the_credential",
    "cancel_storm": "test_cancelled_requests_leak_nothing",
    "subscribe_flood": "test_event_streams_are_bounded",
    "restart_mid": "test_idempotency_key_survives_a_kill",
}


def test_every_case_has_its_test() -> None:
    """Each test that the table names is in this folder; the labelled list, where present, has no other kind."""
    assert {row["name"] for row in shared_rows("data/cases/frames.jsonl")} <= set(INTENTS)
    sources = "".join(file.read_text("utf-8") for file in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in INTENTS.values() if f"def {name}(" not in sources] == []
