/**
 * A cache manager as its clients see it: the contract, what both sides say to each other, the end of a client process
 * ({@link io.farheap.manager.client.ManagerConnection}) and that of a memory server
 * ({@link io.farheap.manager.client.ServerRegistration}). It needs gRPC alone.
 *
 * <p>The manager itself, what it remembers and how it decides is an artifact of its own. What a cache does when it is
 * told that a server leaves is {@code cache}'s.
 */
@NullMarked
package io.farheap.manager;

import org.jspecify.annotations.NullMarked;
