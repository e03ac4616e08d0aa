/**
 * Erasure codes: any k of the k + r splits of a page yield the others (Hydra, FAST '22, section 4). This package has
 * the arithmetic, the code's matrix and the libraries that multiply. Which split is on which server, when a split is
 * late, and what a mode promises are decided elsewhere. It uses no other package.
 */
@NullMarked
package io.farheap.coding;

import org.jspecify.annotations.NullMarked;
