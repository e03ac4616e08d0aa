/**
 * Calls of procedures: the registration of procedures at servers, a session's calls to servers, and calls that run in
 * the client. The package uses {@code order}; begin with {@link io.farheap.cache.calls.SessionCalls}, whose comment
 * lists a call's states.
 */
@NullMarked
package io.farheap.cache.calls;

import org.jspecify.annotations.NullMarked;
