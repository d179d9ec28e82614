"""Many simulated boards and one real MQTT broker: what it carries, and how much boards send."""
