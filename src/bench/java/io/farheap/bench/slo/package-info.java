/** How well performance models keep their promises, and what the machine did meanwhile. */
@NullMarked
package io.farheap.bench.slo;

import org.jspecify.annotations.NullMarked;
