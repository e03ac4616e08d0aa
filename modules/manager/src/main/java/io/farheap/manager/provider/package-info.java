/**
 * Where a manager's servers come from (Redy, sections 3.2 and 6.1: the data center's VM allocator): a
 * {@link io.farheap.manager.provider.ServerProvider} lets machines, each with a memory server that registers itself.
 * Built in are one that lets none, for servers that somebody else starts, and one whose machines are processes of this
 * host, with a spot market that it plays. Others are found by {@link java.util.ServiceLoader}.
 */
@NullMarked
package io.farheap.manager.provider;

import org.jspecify.annotations.NullMarked;
