/**
 * Plays of leased maps on two servers, beside simpler policies (C-Hint, SoCC '14), and of maps of both engines beside
 * each other.
 */
@NullMarked
package io.farheap.bench.kv.leases;

import org.jspecify.annotations.NullMarked;
