package io.farheap.manager.state;

/**
 * A performance model. Immutable.
 *
 * @param key of the model's subject, and the name of its node: letters and digits
 * @param text of its file, unchanged
 */
public record ModelRecord(String key, String text) {

    /** @throws IllegalArgumentException if a value is out of its range */
    public ModelRecord {
        RecordChecks.notBlank("key", key);
        if (!key.chars().allMatch(c -> c < 0x80 && Character.isLetterOrDigit(c))) {
            throw new IllegalArgumentException("key has other than letters and digits");
        }
    }
}
