/**
 * Machines that a manager starts and stops: which ones are cheapest for what finds no room, which are coming, and how
 * much room is held back. Begin with {@link io.farheap.manager.service.supply.Fleet}, then
 * {@link io.farheap.manager.service.supply.MachineSelector}.
 */
@NullMarked
package io.farheap.manager.service.supply;

import org.jspecify.annotations.NullMarked;
