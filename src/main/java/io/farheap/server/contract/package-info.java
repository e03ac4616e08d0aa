/**
 * The contract of a server with its options and with handlers in its process: options and limits, the code that it
 * serves, and shared spaces as handlers see them. Begin with {@link io.farheap.server.contract.ServerOptions} and
 * {@link io.farheap.server.contract.ServedSpaces}.
 */
@NullMarked
package io.farheap.server.contract;

import org.jspecify.annotations.NullMarked;
