package io.farheap.memory;

/**
 * What is left of a machine's memory, or of a control group's.
 *
 * @param where whose it is, for people
 * @param bytes that are left
 * @param total of how many
 */
public record AvailableBytes(String where, long bytes, long total) {

    AvailableBytes least(AvailableBytes other) {
        return other.bytes < bytes ? other : this;
    }
}
