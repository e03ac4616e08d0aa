/**
 * The election of the leader among several managers. Nothing relies on its being unique: two managers may both believe
 * that they lead, and the epoch of {@link io.farheap.manager.state.StateStore} makes the older one's writes fail.
 */
@NullMarked
package io.farheap.manager.election;

import org.jspecify.annotations.NullMarked;
