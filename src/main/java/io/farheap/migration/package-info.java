/**
 * Places an address space on servers, and moves regions between servers while they are used (Redy, section 6.2): the
 * region table, split regions, and the protocol between a migration and the sessions that use the regions.
 *
 * <p>This package decides where a request goes and when it has to wait for a move. It does not send requests
 * ({@link io.farheap.remote}), hold and order them ({@code cache}), or copy bytes: the destination's server does that
 * ({@code server}).
 */
@NullMarked
package io.farheap.migration;

import org.jspecify.annotations.NullMarked;
