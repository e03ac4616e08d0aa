/**
 * A cache manager as its clients see it: the contract, its messages, the end of a client process
 * ({@link io.farheap.manager.client.ManagerConnection}) and that of a memory server
 * ({@link io.farheap.manager.client.ServerRegistration}). It needs only gRPC.
 *
 * <p>The manager's implementation, its storage and its decisions are an artifact of their own. The reaction of a cache
 * to a leaving server is in {@code cache}.
 */
@NullMarked
package io.farheap.manager;

import org.jspecify.annotations.NullMarked;
