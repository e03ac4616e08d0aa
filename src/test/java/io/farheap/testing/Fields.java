package io.farheap.testing;

import java.lang.reflect.Field;

/** Private fields, for tests of states that no caller can bring about. */
public final class Fields {

    private Fields() {}

    /** The value of an object's field, which its class or one above it declares. */
    public static <T> T get(Object object, String name, Class<T> type) {
        try {
            return type.cast(field(object, name).get(object));
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /** The field itself, to be read again and again, or set. */
    public static Field field(Object object, String name) {
        for (Class<?> declaring = object.getClass(); declaring != null; declaring = declaring.getSuperclass()) {
            try {
                Field field = declaring.getDeclaredField(name);
                field.setAccessible(true);
                return field;
            } catch (NoSuchFieldException e) {
                // A class above this one may declare the field.
            }
        }
        throw new AssertionError(object.getClass() + " has no field " + name);
    }
}
