/**
 * Measures what each of Redy's optimisations is worth (its section 4.3), with a hand-over between threads of which each
 * optimisation can be turned off.
 */
@NullMarked
package io.farheap.bench.ablation;

import org.jspecify.annotations.NullMarked;
