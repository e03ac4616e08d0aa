/** {@code farheap bench procedure}: calls of stored procedures beside the reads that they replace. */
@NullMarked
package io.farheap.bench.procedure;

import org.jspecify.annotations.NullMarked;
