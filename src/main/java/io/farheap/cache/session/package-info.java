/**
 * A session from the inside: which requests are admitted, how requests and calls are issued, awaited and ended, and the
 * data path that they use now. The package uses {@code calls} and both paths; begin with
 * {@link io.farheap.cache.session.SessionCore}, which has a field for each of these, then
 * {@link io.farheap.cache.session.SessionAdmission} (the gate).
 */
@NullMarked
package io.farheap.cache.session;

import org.jspecify.annotations.NullMarked;
