/** Measures maps: by traces of requests, and by loads. */
@NullMarked
package io.farheap.bench.kv;

import org.jspecify.annotations.NullMarked;
