package io.farheap.memory;

/**
 * The available memory of a machine, or of a control group.
 *
 * @param where the machine or the group, for messages
 * @param bytes how many bytes are available
 * @param total how many bytes there are
 */
public record AvailableBytes(String where, long bytes, long total) {

    AvailableBytes least(AvailableBytes other) {
        return other.bytes < bytes ? other : this;
    }
}
