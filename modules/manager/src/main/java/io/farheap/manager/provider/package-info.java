/**
 * The origin of a manager's servers (Redy, sections 3.2 and 6.1: the data center's VM allocator): a
 * {@link io.farheap.manager.provider.ServerProvider} lets machines, each with a memory server that registers itself.
 * Two providers are built in: one that lets none, for servers that operators start, and one of which the machines are
 * processes of this host, with a simulated spot market. Others are found by {@link java.util.ServiceLoader}.
 */
@NullMarked
package io.farheap.manager.provider;

import org.jspecify.annotations.NullMarked;
