/* SPDX-License-Identifier: MIT */
/* json.c -- fuzz: the JSON and ledger parsers of the laboratory and the service.  The
 * first byte chooses the parser. */
#include "app/voucher_json.h"
#include "loadtest/audit/ledger.h"
#include "loadtest/lab/lab.h"
#include "tests/fuzz/fuzz.h"

static void read_voucher(const uint8_t *data, size_t size)
{
    struct voucher_draft draft;
    char *text = fuzz_text(data, size);
    int64_t us;

    memset(&draft, 0, sizeof(draft));
    if (!voucher_draft_read(&draft, (const char *)data, size))
        fuzz_check(draft.wrong[0] != '\0' && strlen(draft.wrong) < sizeof(draft.wrong));
    voucher_draft_free(&draft);
    (void)voucher_read_instant(text, &us);
    free(text);
}

static void read_lab(const uint8_t *data, size_t size)
{
    char path[128];
    struct lab lab;

    fuzz_file("state.json", data, size, path);
    if (lab_state_read(&lab, fuzz_dir()))
        fuzz_check(lab.server_count > 0);
    unlink(path);
}

static void read_ledger(const uint8_t *data, size_t size)
{
    struct ledger ledger = {0};
    char path[128];

    fuzz_file("ledger-1.tsv", data, size, path);
    (void)ledger_read(&ledger, fuzz_dir());
    ledger_free(&ledger);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *, size_t) = {read_voucher, read_lab,
                                                               read_ledger};

    if (size > 0)
        readers[data[0] % 3](data + 1, size - 1);
    return 0;
}
