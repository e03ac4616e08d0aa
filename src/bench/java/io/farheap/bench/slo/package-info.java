/** Measures how accurate performance models are, and the state of the machine meanwhile. */
@NullMarked
package io.farheap.bench.slo;

import org.jspecify.annotations.NullMarked;
