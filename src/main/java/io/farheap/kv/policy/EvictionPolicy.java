package io.farheap.kv.policy;

import java.util.Set;

/**
 * A caching algorithm as a function from what is known of an object to how much it is worth keeping (Ditto, section
 * 4.2). Of several objects the one of the lowest priority goes. An instance belongs to one session and one thread; what
 * it shares with other sessions is in the objects alone.
 */
public interface EvictionPolicy {

    /** The lower, the sooner the object goes. Changes nothing. */
    double priority(ObjectMetadata object);

    /** What {@link #priority} and {@link #update} read. */
    Set<AccessInformation> needs();

    /** How many words of {@link ObjectMetadata#extension} the policy keeps with each object. */
    default int extensionWords() {
        return 0;
    }

    /**
     * An access to an object, its insertion first: changes its extension. All but {@link ObjectMetadata#now} is of
     * before the access; at an insertion the frequency and the extension are 0.
     */
    default void update(ObjectMetadata object) {}

    /**
     * An object that this policy named goes. Policies that age objects learn from it how far they are.
     *
     * @param priority it had
     */
    default void evicted(double priority) {}
}
