/**
 * Calls of procedures: which are registered where, a session's calls on their way to servers, and those that run in the
 * client. It stands on {@code order}; begin with {@link io.farheap.cache.calls.SessionCalls}, whose comment has a
 * call's states.
 */
@NullMarked
package io.farheap.cache.calls;

import org.jspecify.annotations.NullMarked;
