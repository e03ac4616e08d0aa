/**
 * Which of several managers is to lead. Nothing rests on it: two may believe it at once, and the epoch of
 * {@link io.farheap.manager.state.StateStore} has the older one's writes fail.
 */
@NullMarked
package io.farheap.manager.election;

import org.jspecify.annotations.NullMarked;
