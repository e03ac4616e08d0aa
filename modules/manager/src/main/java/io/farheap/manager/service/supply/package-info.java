/**
 * The machines that a manager starts and stops: which ones are cheapest for caches that find no room, which are being
 * started, and how much room is held back. Begin with {@link io.farheap.manager.service.supply.Fleet}, then
 * {@link io.farheap.manager.service.supply.MachineSelector}.
 */
@NullMarked
package io.farheap.manager.service.supply;

import org.jspecify.annotations.NullMarked;
