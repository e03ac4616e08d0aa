/**
 * Which server has what of an address space, and moving regions between servers while they are used (Redy, section
 * 6.2): the region table, split regions, and the protocol between a migration and those who use the regions.
 *
 * <p>Here belongs what decides where a request goes and when it has to wait for a move. Not here: how a request gets
 * there ({@link io.farheap.remote}), what is held and in which order ({@code cache}), and the copying itself, which the
 * destination's server does ({@code server}).
 */
@NullMarked
package io.farheap.migration;

import org.jspecify.annotations.NullMarked;
