/** How well performance models keep their promises, and what the machine did meanwhile. */
package io.farheap.bench.slo;
