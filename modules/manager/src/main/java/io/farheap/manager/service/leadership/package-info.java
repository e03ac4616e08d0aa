/**
 * A manager's life among several managers: it stands by, is elected, leads, and stands by again; its store notices if
 * another manager has opened the state. Begin with {@link io.farheap.manager.service.leadership.LeadershipLifecycle}.
 */
@NullMarked
package io.farheap.manager.service.leadership;

import org.jspecify.annotations.NullMarked;
