package io.farheap.kv.policy;

/**
 * The common part of GDS, GDSF and LFUDA. An object's priority is its worth plus the cache's age at its last access,
 * and the age is the priority of the latest evicted object, so that an object which was once worth much does not stay
 * forever.
 *
 * <p>The original algorithms have one age. Here each session has its own, and the age at an object's last access is
 * kept with the object; a session that accesses an object with a greater age than its own continues from that age, so
 * the ages of sessions with common objects stay close. With sampling, the evicted object is not the lowest of all, so
 * the age runs ahead of the exact one, and never decreases.
 */
abstract class AgingPolicy implements EvictionPolicy {

    private double age;

    /** The object's worth without its age. */
    abstract double worth(ObjectMetadata object);

    @Override
    public final double priority(ObjectMetadata object) {
        return object.extensionNumber(0) + worth(object);
    }

    @Override
    public final void update(ObjectMetadata object) {
        age = Math.max(age, object.extensionNumber(0));
        object.extensionNumber(0, age);
    }

    @Override
    public final void evicted(double priority) {
        age = Math.max(age, priority);
    }

    @Override
    public final int extensionWords() {
        return 1;
    }
}
