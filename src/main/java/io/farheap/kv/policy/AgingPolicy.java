package io.farheap.kv.policy;

/**
 * What GDS, GDSF and LFUDA share: an object's worth is added to the cache's age at its last access, and the age is the
 * priority of the latest that went, so that what was worth much once does not stay for ever.
 *
 * <p>The originals have one age. Here each session has its own, and the one at an object's last access is kept with the
 * object; a session that accesses an object whose age is above its own goes on from that, so the ages of sessions with
 * objects in common stay together. Under sampling the one that goes is not the lowest of all, so the age runs ahead of
 * the exact one, and never back.
 */
abstract class AgingPolicy implements EvictionPolicy {

    private double age;

    /** What an object is worth without its age. */
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
