/**
 * A manager's life among several: it stands by, is elected, leads, and stands by again; a store tells whether another
 * has followed. Begin with {@link io.farheap.manager.service.leadership.LeadershipLifecycle}.
 */
@NullMarked
package io.farheap.manager.service.leadership;

import org.jspecify.annotations.NullMarked;
