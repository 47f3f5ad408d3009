-- SPDX-License-Identifier: MIT
-- audit.sql -- what was sold, beside what clients were told.
--
-- The table `told` has the lines of wrk's ledgers: what, request, order number, user,
-- voucher.  The table `issued` has what each voucher was made with.
-- Each line of output is something that is wrong: its kind, and how often it is so.

-- A client was told a number that no row has.
SELECT 'lost', count(*) FROM told AS t
WHERE what = 'accepted' AND NOT EXISTS (
    SELECT FROM tb_voucher_order AS o
    WHERE o.id::text = t.order_id AND o.user_id = t.user_id AND o.voucher_id = t.voucher_id)
HAVING count(*) > 0;

-- Two clients were told the same number.
SELECT 'told twice', count(*) FROM (
    SELECT order_id FROM told WHERE what = 'accepted' GROUP BY order_id HAVING count(*) > 1
) AS twice HAVING count(*) > 0;

-- The row of a user who was refused.  Only vouchers that all orders of are in the ledger.
SELECT 'invented', count(*) FROM tb_voucher_order AS o
WHERE o.voucher_id IN (SELECT voucher_id FROM told) AND NOT EXISTS (
    SELECT FROM told AS t WHERE t.user_id = o.user_id AND t.voucher_id = o.voucher_id)
HAVING count(*) > 0;

CREATE TEMPORARY VIEW sale AS
SELECT i.voucher_id, i.stock AS issued, v.stock AS stock_left,
    (SELECT count(*) FROM tb_voucher_order AS o WHERE o.voucher_id = i.voucher_id) AS orders
FROM issued AS i LEFT JOIN tb_seckill_voucher AS v USING (voucher_id);

SELECT 'a voucher that nobody made, or that is gone', count(*)
FROM tb_seckill_voucher FULL JOIN issued USING (voucher_id)
WHERE issued.stock IS NULL OR tb_seckill_voucher.stock IS NULL HAVING count(*) > 0;

SELECT 'oversold', sum(orders - issued) FROM sale WHERE orders > issued HAVING count(*) > 0;

-- An order that took nothing from the stock, or stock that went without an order.
SELECT 'does not add up', sum(issued - stock_left - orders) FROM sale
WHERE stock_left + orders <> issued HAVING count(*) > 0;

SELECT 'outside of the sale', count(*)
FROM tb_voucher_order AS o JOIN tb_seckill_voucher AS v USING (voucher_id)
WHERE o.admitted_at NOT BETWEEN v.begin_time AND v.end_time OR o.admitted_at IS NULL
HAVING count(*) > 0;

SELECT 'bought twice', count(*) FROM (
    SELECT FROM tb_voucher_order GROUP BY user_id, voucher_id HAVING count(*) > 1
) AS twice HAVING count(*) > 0;
