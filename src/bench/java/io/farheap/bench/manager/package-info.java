/** {@code farheap bench manager}: a cache manager with servers and caches that only report. */
@NullMarked
package io.farheap.bench.manager;

import org.jspecify.annotations.NullMarked;
