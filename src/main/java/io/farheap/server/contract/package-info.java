/**
 * What a memory server is given, and shared spaces as handlers in its process see them: its options and limits, and the
 * code that it serves. Begin with {@link io.farheap.server.contract.ServerOptions} and
 * {@link io.farheap.server.contract.ServedSpaces}.
 */
@NullMarked
package io.farheap.server.contract;

import org.jspecify.annotations.NullMarked;
