/**
 * The state that a cache manager must not forget: memory servers, caches, and which regions belong to which cache. It
 * is kept in ZooKeeper, in this process or elsewhere.
 *
 * <p>The manager uses only {@link io.farheap.manager.state.StateStore}; records are the stored data, and
 * {@link io.farheap.manager.state.RecordFormat} is their encoding. Code that reads and writes the state belongs here.
 * Code that decides on it does not, such as the choice of a cache's servers; nor does code that talks to servers and
 * clients, or elects a leader.
 */
@NullMarked
package io.farheap.manager.state;

import org.jspecify.annotations.NullMarked;
