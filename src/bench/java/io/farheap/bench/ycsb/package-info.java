/**
 * YCSB's loads on a store that outgrows its memory, and on the usual products beside it (Redy, section 8, figures 18 to
 * 20). Contestants take turns on one set of records.
 */
@NullMarked
package io.farheap.bench.ycsb;

import org.jspecify.annotations.NullMarked;
