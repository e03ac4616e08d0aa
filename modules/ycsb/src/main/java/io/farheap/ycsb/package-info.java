/**
 * Bindings of YCSB's own client (Cooper et al., SoCC 2010), which makes strings and maps, and waits for each operation.
 * Its properties are those of {@link io.farheap.ycsb.StoreSettings}.
 */
@NullMarked
package io.farheap.ycsb;

import org.jspecify.annotations.NullMarked;
