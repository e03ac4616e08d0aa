/**
 * The contract of a device: requests of one thread, their statuses and callbacks, registered memory, and the files
 * below it. Begin with {@link io.farheap.tier.device.Device} and {@link io.farheap.tier.device.DeviceHandle}.
 */
@NullMarked
package io.farheap.tier.device;

import org.jspecify.annotations.NullMarked;
