/** What maps are measured by: traces of requests, and what is done with them. */
@NullMarked
package io.farheap.bench.kv;

import org.jspecify.annotations.NullMarked;
