package io.farheap.testing;

import java.lang.reflect.Field;

/** Private fields, for tests of what no caller can bring about. */
public final class Fields {

    private Fields() {}

    /** The value of an object's field, which its class or one above it declares. */
    public static <T> T get(Object object, String name, Class<T> type) {
        for (Class<?> declaring = object.getClass(); declaring != null; declaring = declaring.getSuperclass()) {
            try {
                Field field = declaring.getDeclaredField(name);
                field.setAccessible(true);
                return type.cast(field.get(object));
            } catch (NoSuchFieldException e) {
                // Perhaps above it.
            } catch (IllegalAccessException e) {
                throw new AssertionError(e);
            }
        }
        throw new AssertionError(object.getClass() + " has no field " + name);
    }
}
