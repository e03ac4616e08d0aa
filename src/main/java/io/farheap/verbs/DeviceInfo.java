package io.farheap.verbs;

/**
 * A device of the verbs library in use.
 *
 * @param name as ibv_devinfo prints it, such as {@code mlx5_0} or {@code soft0}
 * @param guid the node's GUID, in host byte order
 */
public record DeviceInfo(String name, long guid) {}
