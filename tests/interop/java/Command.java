// SPDX-License-Identifier: MIT

import java.util.HashMap;
import java.util.Map;

/** A line of the driver: "TAG VERB key=value...". */
record Command(String tag, String verb, Map<String, String> words) {

    static Command parse(String line) {
        String[] parts = line.trim().split(" +");
        Map<String, String> words = new HashMap<>();
        for (int i = 2; i < parts.length; i++) {
            int at = parts[i].indexOf('=');
            words.put(parts[i].substring(0, at), parts[i].substring(at + 1));
        }
        return new Command(parts[0], parts[1], words);
    }

    String text(String key) {
        String value = words.get(key);
        if (value == null) {
            throw new IllegalArgumentException("no " + key + " given");
        }
        return value;
    }

    boolean has(String key) {
        return words.containsKey(key);
    }

    long number(String key) {
        return Long.parseLong(text(key));
    }

    String thread() {
        return words.getOrDefault("thread", "main");
    }
}
