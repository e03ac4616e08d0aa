/**
 * The types that an application and the rooms of a coded space share: modes and their splits, statuses, the callback,
 * and health. Begin with {@link io.farheap.resilience.contract.Resilience}.
 */
@NullMarked
package io.farheap.resilience.contract;

import org.jspecify.annotations.NullMarked;
