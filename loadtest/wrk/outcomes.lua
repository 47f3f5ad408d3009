-- SPDX-License-Identifier: MIT
-- outcomes.lua -- what X-Outcome can say; written by `make docs` from
-- app/outcome.def.
return {
    ["accepted"] = true,
    ["queued"] = true,
    ["sold-out"] = true,
    ["duplicate"] = true,
    ["lock-busy"] = true,
    ["stale"] = true,
    ["admission-full"] = true,
    ["address-full"] = true,
    ["not-started"] = true,
    ["ended"] = true,
    ["unknown-voucher"] = true,
    ["unauthorized"] = true,
    ["forbidden"] = true,
    ["bad-request"] = true,
    ["too-large"] = true,
    ["not-found"] = true,
    ["method-not-allowed"] = true,
    ["conflict"] = true,
    ["unavailable"] = true,
    ["database-busy"] = true,
    ["queue-full"] = true,
    ["unknown"] = true,
    ["voucher-unknown"] = true,
    ["internal"] = true,
}
