/**
 * Erasure codes: splits of a page that can be had again from any k of k + r of them (Hydra, FAST '22, section 4). Here
 * belong the arithmetic, the code's matrix and the libraries that multiply; which split is on which server, when one is
 * late, and what a mode promises, do not. It stands on nothing.
 */
@NullMarked
package io.farheap.coding;

import org.jspecify.annotations.NullMarked;
