/**
 * What a cache manager must not forget: which memory servers there are, which caches, and which regions are whose. It
 * is kept in ZooKeeper, in this process or elsewhere.
 *
 * <p>{@link io.farheap.manager.state.StateStore} is the whole of it for the manager; records are what is stored, and
 * {@link io.farheap.manager.state.RecordFormat} is how. Here belongs what reads and writes that state. What decides on
 * it does not, such as which server a cache gets; nor does anything that talks to servers and clients, or chooses a
 * leader.
 */
@NullMarked
package io.farheap.manager.state;

import org.jspecify.annotations.NullMarked;
