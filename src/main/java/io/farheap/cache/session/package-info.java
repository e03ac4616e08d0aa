/**
 * A session from the inside: what is admitted, how requests and calls are issued, waited for and brought to their end,
 * and the data path that they use now. It stands on {@code calls} and both paths; begin with
 * {@link io.farheap.cache.session.SessionCore}, which has a field for each of these, then
 * {@link io.farheap.cache.session.SessionAdmission} (the gate).
 */
@NullMarked
package io.farheap.cache.session;

import org.jspecify.annotations.NullMarked;
